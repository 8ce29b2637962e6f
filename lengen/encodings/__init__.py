"""Position encodings: how integers enter the network, one file each; `lengen.config.encodings` names them."""
