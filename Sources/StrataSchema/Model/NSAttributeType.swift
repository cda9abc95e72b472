/// The type of an attribute's values, in the old spelling; see ``NSAttributeDescription/AttributeType``.
public enum NSAttributeType: UInt, Sendable {
    /// No type: for transient attributes only.
    case undefinedAttributeType = 0
    /// Integers of 16 bits.
    case integer16AttributeType = 100
    /// Integers of 32 bits.
    case integer32AttributeType = 200
    /// Integers of 64 bits.
    case integer64AttributeType = 300
    /// `NSDecimalNumber`: up to 38 decimal digits.
    case decimalAttributeType = 400
    /// Floating point numbers of 64 bits.
    case doubleAttributeType = 500
    /// Floating point numbers of 32 bits.
    case floatAttributeType = 600
    /// Text.
    case stringAttributeType = 700
    /// True and false.
    case booleanAttributeType = 800
    /// Points in time, as seconds since 2001-01-01 00:00:00 UTC.
    case dateAttributeType = 900
    /// Bytes.
    case binaryDataAttributeType = 1000
    /// Identifiers of 16 bytes.
    case UUIDAttributeType = 1100
    /// Uniform resource identifiers.
    case URIAttributeType = 1200
    /// Values that a value transformer turns into bytes.
    case transformableAttributeType = 1800
    /// Object identifiers; for the results of expressions, not for storing.
    case objectIDAttributeType = 2000
    /// Several attributes under one name; see ``NSCompositeAttributeDescription``.
    case compositeAttributeType = 2100
}
