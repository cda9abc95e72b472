import StrataRuntime

extension NSManagedObject {
    /// An object that was made as plain `NSManagedObject` becomes one of its entity's class, as in Core Data, where the
    /// initialiser gives that out. Not if the class has stored properties, which nobody would have initialised.
    final func takeEntitysClass() {
        guard type(of: self) == NSManagedObject.self, shape.objectClass != NSManagedObject.self,
            ObjectClass.canChange(from: NSManagedObject.self, to: shape.objectClass)
        else { return }
        ObjectClass.change(self, to: shape.objectClass)
    }
}
