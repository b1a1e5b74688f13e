"""The lab's contents as long lists, a page at a time, for the viewer."""
