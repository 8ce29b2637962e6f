"""Schemes of position ids: one file each; `lengen.config.position_ids` names them."""
