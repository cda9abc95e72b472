internal import StrataObjectStore

/// Finds the key of something that is encrypted.
enum ObjectKeys {
    /// - Parameters:
    ///   - check: what the key that it was encrypted with has said of itself.
    ///   - key: the object's name, for the error.
    /// - Throws: `.key` if there is no key with the number, or another one.
    static func frames(
        _ cipher: any ObjectCipher, _ number: UInt32, salt: [UInt8], check: [UInt8], key: String
    ) throws(ShipError) -> any FrameCipher {
        let frames: any FrameCipher
        do throws(ObjectCipherError) {
            frames = try cipher.frames(key: number, salt: salt)
        } catch {
            throw ShipError(.key, "an object is encrypted with key \(number): \(error)", key: key)
        }
        guard frames.keyCheck == check else {
            throw ShipError(
                .key, "an object is encrypted with another key \(number) than the one that was given", key: key)
        }
        return frames
    }
}
