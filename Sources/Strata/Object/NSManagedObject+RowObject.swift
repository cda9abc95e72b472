extension NSManagedObject: RowObject {}
