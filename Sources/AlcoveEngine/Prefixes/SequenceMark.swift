/// A place in a sequence that can be gone back to, in a memory that forgets: sliding windows and recurrent layers.
///
/// Holds what those layers knew there. Layers that keep everything are cut instead, so a mark is of use only with the
/// sequence, or the whole state, that it was taken of.
struct SequenceMark: Sendable {
    /// Tokens before this place.
    let count: Int
    /// The position of what comes behind it, and the first position that is not taken: less, behind some pictures.
    let position: Int
    let end: Int
    let state: [UInt8]
}
