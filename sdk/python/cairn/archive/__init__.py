"""The archive of the working directory. sdk/typescript/capture/archive makes the same of the same files."""
