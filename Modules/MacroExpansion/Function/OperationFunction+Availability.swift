#if SwiftOperationMacros
  internal import SwiftSyntax

  extension FunctionDeclSyntax {
    /// The body of an operation: none that calls the function where no code can call that. The operation is unavailable there as
    /// well, so it need not call the function, and must not.
    ///
    /// - Parameters:
    ///   - name: The name of the function.
    ///   - call: The body that calls the function.
    /// - Returns: The body.
    func body(of name: String, in call: String) -> String {
      let none = "Swift.fatalError(\"'\(name)' is unavailable.\")"
      if self.isUnavailable { return none }
      guard let version = self.lastLanguageVersion else { return call }
      return """
        #if swift(>=\(version))
            \(none)
          #else
            \(call)
          #endif
        """
    }

    private var isUnavailable: Bool {
      self.availabilities.contains { arguments in
        arguments.isForAllPlatforms && arguments.contains { $0.token?.tokenKind == .keyword(.unavailable) }
      }
    }

    /// The word in `@available(*, noasync)`, with which a run, which is asynchronous, cannot call the function.
    var noasync: TokenSyntax? {
      self.availabilities.lazy.flatMap { $0 }.compactMap(\.token).first { $0.tokenKind == .keyword(.noasync) }
    }

    /// The version of the language from which on no code can call the function, of `@available(swift, obsoleted: 6)`.
    private var lastLanguageVersion: String? {
      self.availabilities.lazy.filter { $0.first?.token?.text == "swift" }.compactMap(\.obsoletion).first?.version
    }

    /// What makes the function obsolete on a platform, where an operation that is obsolete as well cannot call it.
    var obsoletion: AvailabilityLabeledArgumentSyntax? {
      self.availabilities.lazy.filter { !$0.isForAllPlatforms && $0.first?.token?.text != "swift" }.compactMap(
        \.obsoletion
      ).first
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

    /// The argument `obsoleted: …`.
    fileprivate var obsoletion: AvailabilityLabeledArgumentSyntax? {
      self.lazy.compactMap { argument in
        guard case .availabilityLabeledArgument(let labeled) = argument.argument else { return nil }
        return labeled
      }
      .first { $0.label.tokenKind == .keyword(.obsoleted) }
    }
  }

  extension AvailabilityArgumentSyntax {
    fileprivate var token: TokenSyntax? {
      if case .token(let token) = self.argument { token } else { nil }
    }
  }

  extension AvailabilityLabeledArgumentSyntax {
    /// The version as it is written.
    fileprivate var version: String { self.value.trimmedDescription }
  }
#endif
