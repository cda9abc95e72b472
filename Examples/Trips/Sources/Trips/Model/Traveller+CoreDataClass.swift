//
//  Traveller+CoreDataClass.swift
//  Trips
//

import CoreData
import Foundation

@objc(Traveller)
public class Traveller: NSManagedObject {

    @objc dynamic public var fullName: String {
        return [firstName, lastName].compactMap { $0 }.joined(separator: " ")
    }

    public override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
        switch key {
        case #keyPath(fullName): return [#keyPath(Traveller.firstName), #keyPath(Traveller.lastName)]
        default: return super.keyPathsForValuesAffectingValue(forKey: key)
        }
    }

    @objc(validateLastName:error:)
    func validateLastName(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
        guard (value.pointee as? String) != "" else {
            throw NSError(
                domain: NSCocoaErrorDomain, code: NSValidationStringTooShortError,
                userInfo: [NSValidationObjectErrorKey: self, NSValidationKeyErrorKey: #keyPath(lastName)])
        }
    }
}

extension Traveller {
    public override func awakeFromInsert() {
        super.awakeFromInsert()
        setPrimitiveValue(Date(timeIntervalSinceReferenceDate: 0), forKey: #keyPath(Traveller.updatedAt))
    }

    public override func willSave() {
        super.willSave()
        let key = NSStringFromSelector(#selector(getter: updatedAt))
        guard !isDeleted, !changedValues().keys.contains(key) else { return }
        updatedAt = Date(timeIntervalSinceReferenceDate: (updatedAt?.timeIntervalSinceReferenceDate ?? 0) + 1)
    }

    /// The line of this declaration, to show that messages lead to the sources as they are.
    public static var line: Int { return #line }
}
