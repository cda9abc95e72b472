import Foundation

extension CocoaError {
    /// The object that is invalid.
    public var validationObject: Any? { userInfo[NSValidationObjectErrorKey] }

    /// The name of the property that is invalid.
    public var validationKey: String? { userInfo[NSValidationKeyErrorKey] as? String }

    /// The predicate that the value did not satisfy.
    public var validationPredicate: NSPredicate? { userInfo[NSValidationPredicateErrorKey] as? NSPredicate }

    /// The value that is invalid.
    public var validationValue: Any? { userInfo[NSValidationValueErrorKey] }

    /// The stores that the error concerns.
    public var affectedStores: [AnyObject]? { Self.objects(userInfo[NSAffectedStoresErrorKey]) }

    /// The objects that the error concerns.
    public var affectedObjects: [AnyObject]? { Self.objects(userInfo[NSAffectedObjectsErrorKey]) }

    private static func objects(_ value: Any?) -> [AnyObject]? {
        (value as? [Any])?.map { $0 as AnyObject }
    }
}
