// Locks and programmer errors: whoever uses this module uses them, too.
@_exported public import StrataSupport
