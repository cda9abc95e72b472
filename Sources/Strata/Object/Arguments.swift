import Foundation

// Objects and their identifiers as arguments of a format, as bridging makes them on Apple's platforms.

extension NSManagedObject: CVarArg {}
extension NSManagedObjectID: CVarArg {}
