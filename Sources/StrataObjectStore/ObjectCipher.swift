/// Encrypts and authenticates what is put into a bucket. `StrataEncryption` has one for AES-256-GCM.
///
/// A cipher knows several keys, by number, and encrypts with one of them. A number stands for the same key for ever.
/// May be used from any task.
public protocol ObjectCipher: Sendable {
    /// The number of the key that objects are encrypted with from now on, 1 or more.
    var keyNumber: UInt32 { get throws(ObjectCipherError) }

    /// What encrypts and decrypts one object.
    ///
    /// - Parameters:
    ///   - number: Of the key.
    ///   - salt: Drawn at random for the object. The object's own key follows from it and from the key with the number,
    ///     so that no two objects ever have the same.
    func frames(key number: UInt32, salt: [UInt8]) throws(ObjectCipherError) -> any FrameCipher
}

/// Encrypts and decrypts the frames of one object, each of which is written once.
public protocol FrameCipher: Sendable {
    /// 8 bytes that follow from the key with the number alone, and from which nothing of it follows: they tell another
    /// key from damage.
    var keyCheck: [UInt8] { get }

    /// The frame's bytes encrypted, and a tag of 16 bytes behind them.
    ///
    /// - Parameters:
    ///   - number: Of the frame in the object; no two frames of an object that is written have the same.
    ///   - context: What has to be the same when the frame is opened.
    func seal(
        _ frame: ArraySlice<UInt8>, number: UInt64, context: [UInt8]
    ) throws(ObjectCipherError) -> [UInt8]

    /// What was sealed; nil if these bytes, the number or the context are not those of then.
    func open(_ sealed: ArraySlice<UInt8>, number: UInt64, context: [UInt8]) -> [UInt8]?
}

/// Why something cannot be encrypted or decrypted.
public enum ObjectCipherError: Error, Sendable, Hashable {
    /// There is no key with this number.
    case missingKey(UInt32)
    /// What is given as keys is none: what is wrong, without any key's bytes.
    case invalid(String)
}

extension ObjectCipherError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .missingKey(let number): "there is no key \(number)"
        case .invalid(let message): message
        }
    }
}
