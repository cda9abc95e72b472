import Foundation

/// Makes Foundation's value types turn into objects in statically linked programs, too. Whatever takes an `Any`, as
/// property lists and archives do, needs that.
///
/// Assumes: Foundation finds a type's conformance to `_ObjectiveCBridgeable` at run time, and a static link
/// (`-static-stdlib`) has it only if something refers to its object file. Without the references here, property lists
/// could not be written (error 3851), and archives were empty.
/// If that were wrong: ``check()`` says so; a statically linked program throws when it writes metadata.
package enum BridgedTypes {
    /// As existentials, since those refer to the conformances whatever the optimiser knows.
    private static var values: [any _ObjectiveCBridgeable] {
        [
            [String](), [String: Int](), Set<String>(), "", Data(), Date(), URL(fileURLWithPath: "/"), UUID(),
            Decimal(), IndexPath(), IndexSet(), CharacterSet(), DateComponents(), DateInterval(), URLComponents(),
            URLQueryItem(name: "", value: nil), PersonNameComponents(), Locale(identifier: ""), TimeZone.current,
            Calendar(identifier: .gregorian), 0, 0.0, false,
        ]
    }

    static func check() -> String? {
        for value in values where !(value._bridgeToObjectiveC() is NSObject) {
            return "Foundation has no object for a value of \(type(of: value))"
        }
        let list = try? PropertyListSerialization.data(
            fromPropertyList: ["": [Date(), Data(), 0] as [Any]], format: .binary, options: 0)
        guard list?.isEmpty == false else { return "Foundation writes no property lists" }
        let archive = try? NSKeyedArchiver.archivedData(
            withRootObject: [Date(), Data(), 0] as [Any], requiringSecureCoding: true)
        guard archive?.isEmpty == false else { return "Foundation writes no archives" }
        return nil
    }
}
