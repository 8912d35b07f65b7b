import { blobStoreContract } from "#store/contract/blob-store/blob-store.ts";

import { openMemoryBlobStore } from "./memory-blob-store.ts";

blobStoreContract(
  "memory",
  async () => {
    const store = openMemoryBlobStore();
    return { store, leftovers: async () => [], discard: () => store.close() };
  },
  { flatMemory: false, copies: false },
);
