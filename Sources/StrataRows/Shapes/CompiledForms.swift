import StrataSupport

// What descriptions were compiled to, by type. The places are untyped, since descriptions do not know what is made of
// them; nothing but what is stored by ``ModelShapes`` is ever there.

extension NSEntityDescription {
    /// The compiled form of the entity, if it has one.
    @inlinable @inline(__always)
    package final var shape: EntityShape? { compiledForm.load().map { unsafeDowncast($0, to: EntityShape.self) } }

    /// As ``shape``, without counting a reference: shapes are never freed.
    @inlinable @inline(__always)
    package final var shapeReference: Unmanaged<EntityShape>? {
        compiledForm.loadReference().map { .fromOpaque($0.toOpaque()) }
    }

    /// Keeps the compiled form unless there is one. Returns the one that is kept.
    final func keepShape(_ shape: EntityShape) -> EntityShape {
        unsafeDowncast(compiledForm.storeIfNil(shape), to: EntityShape.self)
    }
}

extension NSManagedObjectModel {
    /// The compiled entities, if there are.
    @inlinable @inline(__always)
    package final var shapes: ModelShapes? { compiledForm.load().map { unsafeDowncast($0, to: ModelShapes.self) } }
}
