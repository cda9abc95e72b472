// What knows no contexts is a module of its own, and brings Foundation, whose types it shadows where they lack something.
@_exported public import StrataSchema
