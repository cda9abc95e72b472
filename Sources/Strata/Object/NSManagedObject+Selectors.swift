import Foundation

extension NSManagedObject {
    /// Whether key-value coding knows a property of this name: the selector of a getter.
    ///
    /// Without the Objective-C runtime there are no other methods to ask for.
    public final func responds(to selector: Selector!) -> Bool {
        guard let selector else { return false }
        return shape.property(selector.description) != nil
    }

    /// Whether the entity of the class has a property of this name; see ``responds(to:)``.
    public class func instancesRespond(to selector: Selector!) -> Bool {
        guard let selector else { return false }
        return ModelShapes.shapes(ofClass: self).contains { $0.property(selector.description) != nil }
    }
}
