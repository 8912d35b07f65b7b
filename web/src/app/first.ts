/** Comes before all else of the application: while that is compiled and set up, the page is on its way. */
import { sendForPage } from "./pages.ts";

sendForPage(location.pathname);
