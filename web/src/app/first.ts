/** Loaded before the rest of the application: the page is fetched while that is compiled and set up. */
import { holdLinkSecret } from "../data/link-secret.ts";
import { sendForPage } from "./pages.ts";

holdLinkSecret();
sendForPage(location.pathname);
