public import Foundation

// What bridging makes of these types on Apple's platforms: arguments of a format, so that `id as CVarArg` compiles.

extension NSNumber: @retroactive CVarArg {}
extension NSDate: @retroactive CVarArg {}
extension NSUUID: @retroactive CVarArg {}
extension NSURL: @retroactive CVarArg {}
extension NSData: @retroactive CVarArg {}
extension NSArray: @retroactive CVarArg {}
extension NSSet: @retroactive CVarArg {}
extension NSOrderedSet: @retroactive CVarArg {}
extension NSDictionary: @retroactive CVarArg {}
extension NSNull: @retroactive CVarArg {}

extension CVarArg where Self: NSObject {
    /// The object's address. Whoever builds the list of arguments keeps the object.
    public var _cVarArgEncoding: [Int] { [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())] }
}

extension UUID: @retroactive CVarArg, @retroactive _CVarArgObject {
    public var _cVarArgObject: any CVarArg { NSUUID(uuidString: uuidString) ?? NSUUID() }
}
extension Date: @retroactive CVarArg, @retroactive _CVarArgObject {
    public var _cVarArgObject: any CVarArg {
        NSDate(timeIntervalSinceReferenceDate: timeIntervalSinceReferenceDate)
    }
}
extension URL: @retroactive CVarArg, @retroactive _CVarArgObject {
    public var _cVarArgObject: any CVarArg { self as NSURL }
}
extension Data: @retroactive CVarArg, @retroactive _CVarArgObject {
    public var _cVarArgObject: any CVarArg { NSData(data: self) }
}
extension Decimal: @retroactive CVarArg, @retroactive _CVarArgObject {
    public var _cVarArgObject: any CVarArg { NSDecimalNumber(decimal: self) }
}
extension Array: @retroactive CVarArg, @retroactive _CVarArgObject {
    public var _cVarArgObject: any CVarArg { NSArray(array: self) }
}
extension Set: @retroactive CVarArg, @retroactive _CVarArgObject {
    public var _cVarArgObject: any CVarArg {
        // Foundation's sets cannot have decimals.
        contains(where: AnyElements.isDecimal) ? NSArray(array: Array(self)) : NSSet(array: Array(self))
    }
}
extension Dictionary: @retroactive CVarArg, @retroactive _CVarArgObject {
    public var _cVarArgObject: any CVarArg {
        let dictionary = NSMutableDictionary()
        for case let (key as String, value) in self { dictionary.setObject(value, forKey: NSString(string: key)) }
        return dictionary
    }
}

extension _CVarArgObject {
    /// The object that stands for the value is encoded, and kept, by whoever builds the list of arguments.
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}
