"""How envelopes and files get to the server: first to disk, then over the network."""
