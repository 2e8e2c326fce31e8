#if SwiftOperationMacros
  internal import OperationCore

  /// The name of the operation of a function: `Post.query(for:)`.
  struct FunctionName: Sendable {
    /// The type that the function belongs to; nil for a global function.
    let owner: (any Any.Type)?
    /// The member that the macro has generated.
    let peer: StaticString

    var text: String {
      let function = self.peer.withUTF8Buffer { String(decoding: $0.drop { $0 == UInt8(ascii: "$") }, as: UTF8.self) }
      return self.owner.map { OperationName.of($0) + "." + function } ?? function
    }
  }
#endif
