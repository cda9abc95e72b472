/// What a property name stands for in a shape.
@usableFromInline
package enum PropertyReference {
    case slot(Int)
    case toMany(Int)
    /// Several slots under one name.
    case composite(CompositeShape)
    case fetched(NSPropertyDescription)
}
