/// What the plugin `ManagedAccessors` found out about the classes of one module. Not API: generated code subclasses it,
/// under the name ``_ManagedAccessorTable/generatedName``, by which it is found.
open class _ManagedAccessorTable {
    /// What generated subclasses are called.
    static let generatedName = "_StrataManagedAccessors"

    /// Adds the module's classes.
    open class func fill(_ classes: inout _ManagedClasses) {}
}

/// Takes the classes of managed objects of a module. Not API.
public struct _ManagedClasses {
    var classes: [ManagedClassEntry] = []

    /// Adds a class. What its properties are is asked when one of its objects or key paths is first used.
    public mutating func add<Object: NSManagedObject>(
        _ type: Object.Type, _ fill: @escaping (inout _ManagedClass<Object>) -> Void
    ) {
        classes.append(
            ManagedClassEntry(type: type) { summary in
                var description = _ManagedClass<Object>()
                fill(&description)
                summary = description.summary
            })
    }
}

/// A class of managed objects, described by generated code. Not API.
public struct _ManagedClass<Object: NSManagedObject> {
    var summary = ManagedClassSummary()

    /// Says which property a key path reads.
    public mutating func name(_ keyPath: PartialKeyPath<Object>, _ name: String) {
        summary.propertyNames[keyPath] = name
        if type(of: keyPath).valueType is any OptionalValue.Type { summary.optionalNames.insert(name) }
    }

    /// Adds a method `validate<Key>`.
    public mutating func validate(
        _ key: String,
        _ method: @escaping (Object) -> (AutoreleasingUnsafeMutablePointer<AnyObject?>) throws -> Void
    ) {
        summary.validators[key] = KeyValidator(method)
    }

    /// Adds a method or property `keyPathsForValuesAffecting<Key>` of the class.
    public mutating func depends(_ key: String, _ keyPaths: @escaping () -> Set<String>) {
        summary.dependencies[key] = keyPaths
    }

    /// Adds a property that the class declares itself, for key-value coding.
    public mutating func accessor<Value>(_ key: String, _ keyPath: KeyPath<Object, Value>) {
        summary.accessorNames[keyPath] = key
        summary.accessors[key] = KeyAccessor(keyPath)
    }

    /// Adds a property that the class declares itself and that can be set, for key-value coding.
    public mutating func accessor<Value>(_ key: String, _ keyPath: ReferenceWritableKeyPath<Object, Value>) {
        summary.accessorNames[keyPath] = key
        summary.accessors[key] = KeyAccessor(writable: keyPath)
    }
}

/// A class and what tells its properties.
struct ManagedClassEntry {
    let type: NSManagedObject.Type
    let fill: (inout ManagedClassSummary) -> Void
}

/// What generated code says of a class, kept for good.
final class ManagedClassRecord: @unchecked Sendable {
    // Unchecked: constant; key paths are immutable, and closures over them hold nothing else.
    let summary: ManagedClassSummary

    init(_ summary: ManagedClassSummary) {
        self.summary = summary
    }
}

/// What generated code says of a class.
struct ManagedClassSummary {
    var propertyNames: [AnyKeyPath: String] = [:]
    /// The names of the properties whose type is optional.
    var optionalNames: Set<String> = []
    var validators: [String: KeyValidator] = [:]
    var accessors: [String: KeyAccessor] = [:]
    /// The keys of ``accessors``, for observing. A fetch does not know these properties, so they are not among
    /// ``propertyNames``.
    var accessorNames: [AnyKeyPath: String] = [:]
    /// What `keyPathsForValuesAffecting<Key>` returns, by key.
    var dependencies: [String: () -> Set<String>] = [:]
}
