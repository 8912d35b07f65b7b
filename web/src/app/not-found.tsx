import { Link } from "@tanstack/react-router";
import { Notice } from "../widgets/notices/notice.tsx";

export function NotFound() {
  return (
    <Notice title="Page not found">
      <p>
        Check the address. It may be mistyped, or from another version. <Link to="/">Go home</Link>.
      </p>
    </Notice>
  );
}
