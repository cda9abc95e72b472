#if Macros
@_exported import Strata

/// Gives the properties of a class of managed objects their accessors, in the place of `@NSManaged` and the plugin
/// `ManagedAccessors`.
///
///     @Managed final class Book: NSManagedObject {
///         var title: String
///         var pages: Int
///         var author: Author?
///         var chapters: Set<Chapter>
///     }
///
/// At a class it is for all variables that have neither a value nor accessors nor another attribute; at a variable, also
/// of an extension, for that one. The declared type may be another one than the model's, as with `@NSManaged`: `Int` over
/// Integer 16, an enumeration over its raw value, `NSSet`, a `Set` or an array over a relationship. A type that the model
/// stores as it is costs what a slot written by hand costs. A class that has the attribute also says what key paths to
/// its own properties mean (``Strata/NSManagedObject/propertyNames``), unless it declares that itself.
///
/// What cannot be managed is an error at the declaration. An alias of an optional type is taken for a type that is none.
@attached(accessor, names: named(get), named(set))
@attached(peer, names: prefixed(_managed_))
@attached(memberAttribute)
@attached(member, names: named(propertyNames))
public macro Managed() = #externalMacro(module: "StrataMacros", type: "ManagedMacro")
#endif
