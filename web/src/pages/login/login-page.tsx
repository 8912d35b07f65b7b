import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useEffectEvent, useState, type FormEvent } from "react";
import { Logo } from "../../widgets/logo.tsx";
import { takeLinkSecret } from "../../data/link-secret.ts";
import { signIn, type Credential } from "../../data/session.ts";
import { Button } from "../../widgets/button.tsx";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { TabPanel, Tabs } from "../../widgets/tabs.tsx";
import { TextField } from "../../widgets/fields/text-field.tsx";
import styles from "./login.module.css";

const WAYS = [
  { value: "token", label: "Token" },
  { value: "password", label: "Password" },
] as const;

/** Signs in, and then redirects back. */
export function LoginPage() {
  const { next = "/" } = useSearch({ from: "/login" });
  const navigate = useNavigate();
  const [way, setWay] = useState("token");
  const [token, setToken] = useState("");
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [error, setError] = useState<unknown>(undefined);
  const [isBusy, setBusy] = useState(false);
  const enter = async (credential: Credential) => {
    setBusy(true);
    setError(undefined);
    try {
      await signIn(credential);
      await navigate({ href: next, replace: true });
    } catch (thrown) {
      setError(thrown);
      setBusy(false);
    }
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    await enter(way === "token" ? { token: token.trim() } : { name: name.trim(), password });
  };
  const followLink = useEffectEvent(() => {
    const secret = takeLinkSecret();
    if (secret !== undefined) void enter({ token: secret });
  });
  useEffect(() => {
    followLink();
    // The link may be opened where this page is open already, which does not reload it.
    const onChange = () => followLink();
    addEventListener("hashchange", onChange);
    return () => removeEventListener("hashchange", onChange);
  }, []);
  const isReady = way === "token" ? token.trim() !== "" : name.trim() !== "" && password !== "";
  return (
    <div className={styles.page}>
      <form className={styles.card} onSubmit={(event) => void submit(event)}>
        <header className={styles.head}>
          <Logo size={28} />
          <h1 className={styles.title}>Sign in to Cairn</h1>
        </header>
        <Tabs label="How to sign in" value={way} tabs={WAYS} onChange={setWay}>
          <TabPanel value="token">
            <div className={styles.fields}>
              <TextField
                label="Token"
                type="password"
                value={token}
                onChange={setToken}
                placeholder="cairn_…"
                autoFocus
                mono
                hint="The server shows one at its first start; later ones are made on the page Access, or by the command cairn token create."
              />
            </div>
          </TabPanel>
          <TabPanel value="password">
            <div className={styles.fields}>
              <TextField label="Name" value={name} onChange={setName} autoComplete="username" />
              <TextField
                label="Password"
                type="password"
                value={password}
                onChange={setPassword}
                autoComplete="current-password"
              />
            </div>
          </TabPanel>
        </Tabs>
        {error !== undefined && <ErrorNote error={error} />}
        <Button type="submit" primary disabled={!isReady || isBusy} className={styles.submit}>
          {isBusy ? "Signing in …" : "Sign in"}
        </Button>
      </form>
      <p className={styles.note}>{location.host}</p>
    </div>
  );
}
