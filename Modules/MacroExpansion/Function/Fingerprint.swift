#if SwiftOperationMacros
  internal import SwiftSyntax
  internal import SwiftSyntaxMacros

  extension MacroExpansionContext {
    /// A hash of the file, the surrounding declarations and the declaration of the function without its body, as two
    /// numbers.
    ///
    /// The numbers are the same in every build. A type cannot be declared inside a generic function. Instead, the
    /// numbers become the arguments of a generic type, and that type distinguishes the functions. There are two numbers
    /// because the compiler crashes on arguments of more than 31 bits.
    func fingerprint(of function: FunctionDeclSyntax) -> (high: Int, low: Int) {
      var hash = FowlerNollVo()
      hash.combine(self.location(of: function)?.file.trimmedDescription ?? "")
      for surroundings in self.lexicalContext {
        guard let group = surroundings.asProtocol((any DeclGroupSyntax).self) else { continue }
        var header = group
        header.memberBlock = MemberBlockSyntax(members: [])
        hash.combine(header.trimmedDescription)
      }
      hash.combine(function.with(\.body, nil).with(\.attributes, []).trimmedDescription)
      return hash.value
    }
  }

  /// FNV-1a, in two parts of 31 bits each.
  private struct FowlerNollVo {
    private var state: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func combine(_ text: String) {
      // The zero marks the end of a text, so that different lists of texts differ.
      for byte in Array(text.utf8) + [0] {
        self.state = (self.state ^ UInt64(byte)) &* 0x100_0000_01b3
      }
    }

    var value: (high: Int, low: Int) { (Int(self.state >> 33), Int(self.state & 0x7fff_ffff)) }
  }
#endif
