#if Macros
@_exported import Strata

/// Gives a property of a class of managed objects its accessors, in the place of `@NSManaged` and the plugin
/// `ManagedAccessors`.
///
///     @Managed var title: String
///
/// The property may be one of an extension. The declared type may be another one than the model's, as with
/// `@NSManaged`: `Int` over Integer 16, an enumeration over its raw value, `NSSet`, a `Set` or an array over a
/// relationship. A type that the model stores as it is costs what a slot written by hand costs. What cannot be managed
/// is an error at the declaration. An alias of an optional type is taken for a type that is none.
@attached(accessor, names: named(get), named(set))
@attached(peer, names: prefixed(_managed_))
public macro Managed() = #externalMacro(module: "StrataMacros", type: "ManagedMacro")

/// Makes the properties of a class of managed objects ``Managed()``: all variables that have neither a value nor
/// accessors nor another attribute.
///
///     @ManagedObject final class Book: NSManagedObject {
///         var title: String
///         var pages: Int
///         var author: Author?
///         var chapters: Set<Chapter>
///     }
///
/// It also says what key paths to the class's own properties mean (``Strata/NSManagedObject/propertyNames``), unless
/// the class declares that itself.
@attached(memberAttribute)
@attached(member, names: named(propertyNames))
public macro ManagedObject() = #externalMacro(module: "StrataMacros", type: "ManagedObjectMacro")
#endif
