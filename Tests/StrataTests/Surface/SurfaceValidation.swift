import CoreData

/// Names every symbol of the group "validation" with its signature, so that none can vanish. Never run.
enum SurfaceValidation {
    static func nsManagedObject() {
        _ = { (object: NSManagedObject, a0: AutoreleasingUnsafeMutablePointer<AnyObject?>, a1: String) throws -> Void in
            try object.validateValue(a0, forKey: a1)
        }
        _ = { (object: NSManagedObject) throws -> Void in try object.validateForDelete() }
        _ = { (object: NSManagedObject) throws -> Void in try object.validateForInsert() }
        _ = { (object: NSManagedObject) throws -> Void in try object.validateForUpdate() }
    }

    static func nsPropertyDescription() {
        _ = { (object: NSPropertyDescription) -> [NSPredicate] in object.validationPredicates }
        _ = { (object: NSPropertyDescription) -> [Any] in object.validationWarnings }
        _ = { (object: NSPropertyDescription, a0: [NSPredicate]?, a1: [String]?) -> Void in
            object.setValidationPredicates(a0, withValidationWarnings: a1)
        }
    }

    static func cocoaError() {
        _ = { (object: CocoaError) -> Any? in object.validationObject }
        _ = { (object: CocoaError) -> String? in object.validationKey }
        _ = { (object: CocoaError) -> NSPredicate? in object.validationPredicate }
        _ = { (object: CocoaError) -> Any? in object.validationValue }
    }

    static func global() {
        _ = { () -> String in NSValidationObjectErrorKey }
        _ = { () -> String in NSValidationKeyErrorKey }
        _ = { () -> String in NSValidationPredicateErrorKey }
        _ = { () -> String in NSValidationValueErrorKey }
    }
}
