"""What earlier runs found, kept on the disk: by the contents of all that their answer could depend on."""
