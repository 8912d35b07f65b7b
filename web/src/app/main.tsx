// Evaluated before the others, which is what it is for.
// oxlint-disable-next-line no-unassigned-import
import "./first.ts";
import "../widgets/tokens.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queryClient } from "../data/queries.ts";
import { router } from "./router.tsx";
import { applyTheme } from "../widgets/theme.ts";

applyTheme();
createRoot(document.querySelector("#app")!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
