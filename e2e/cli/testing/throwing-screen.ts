/** Takes the screen and then fails, in the way that its argument names. For screen.test.ts. */
import { openScreen } from "#cli/screen/screen.ts";

const screen = openScreen();
screen.draw(["taken"]);
const way = process.argv[2];
// Long enough for the test to see that the screen was taken.
setTimeout(() => {
  if (way === "throw") throw new Error("thrown on purpose");
  if (way === "reject") void Promise.reject(new Error("rejected on purpose"));
  if (way === "exit") process.exit(3);
}, 1_000);
