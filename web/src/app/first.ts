/** Comes before all else of the application: while that is compiled and set up, the page is on its way. */
import { holdLinkSecret } from "../data/link-secret.ts";
import { sendForPage } from "./pages.ts";

holdLinkSecret();
sendForPage(location.pathname);
