#if SwiftOperationMacros
  internal import SwiftSyntax

  extension FunctionDeclSyntax {
    /// Whether no code can call the function. The operation is unavailable as well, so it need not call the function, and must not.
    var isUnavailable: Bool {
      self.availabilities.contains { arguments in
        arguments.isForAllPlatforms && arguments.contains { $0.token?.tokenKind == .keyword(.unavailable) }
      }
    }

    /// The word in `@available(*, noasync)`, with which a run, which is asynchronous, cannot call the function.
    var noasync: TokenSyntax? {
      self.availabilities.lazy.flatMap { $0 }.compactMap(\.token).first { $0.tokenKind == .keyword(.noasync) }
    }

    private var availabilities: [AvailabilityArgumentListSyntax] {
      self.attributes.compactMap { element in
        guard case .attribute(let attribute) = element, case .availability(let arguments)? = attribute.arguments else {
          return nil
        }
        return arguments
      }
    }
  }

  extension AvailabilityArgumentListSyntax {
    fileprivate var isForAllPlatforms: Bool { self.first?.token?.text == "*" }
  }

  extension AvailabilityArgumentSyntax {
    fileprivate var token: TokenSyntax? {
      if case .token(let token) = self.argument { token } else { nil }
    }
  }
#endif
