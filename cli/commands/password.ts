import type { Command } from "commander";
import { askNewPassword, askOwnPassword, requireGiven } from "../access/passwords.ts";
import type { Cli } from "../cli.ts";
import { printable } from "../output/text.ts";
import { readSecrets } from "../prompt.ts";

export default function add(command: Command, cli: Cli): void {
  command
    .option(
      "--password-stdin",
      "read the old password and then the new one, a line each, from standard input",
    )
    .addHelpText(
      "after",
      `
Ends every other login, session and token that was made with the old password. The login that is used for the
change stays valid. An administrator sets the password of another user with \`cairn access user password NAME\`.

Examples:
  cairn password                              asks for the old one, and twice for the new one
  cairn password --password-stdin < both.txt`,
    )
    .action(async ({ passwordStdin }: { passwordStdin?: boolean }) => {
      const server = await cli.connect();
      const name = (await server.access.whoAmI({})).principal?.name ?? "";
      const [oldPassword, newPassword] =
        passwordStdin === true
          ? await readSecrets(cli, 2)
          : [await askOwnPassword(cli, server.url), await askNewPassword(cli, name)];
      await server.access.changePassword({
        oldPassword: requireGiven(oldPassword!),
        newPassword: requireGiven(newPassword!),
      });
      if (cli.options.json === true) cli.printJson({ server: server.url, name, changed: true });
      else {
        cli.print(
          `The password of ${printable(name)} is changed. Logins, sessions and tokens made with the old one have ended.`,
        );
      }
    });
}
