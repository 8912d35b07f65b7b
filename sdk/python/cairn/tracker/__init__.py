"""What `cairn.torchx_tracker` is made of: names, runs, lineage and settings of TorchX."""
