"""The commands for people, one file each; a file loads what its command needs when the command runs."""
