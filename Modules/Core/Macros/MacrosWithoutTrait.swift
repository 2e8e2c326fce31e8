#if !SwiftOperationMacros
  // Without these declarations the compiler reports unknown macros and does not name the missing trait. This package's
  // macro plugin is built only with the trait, so the declarations name a macro implementation that every toolchain
  // includes. Attached to a function, it expands to nothing and adds no further error.

  /// Creates a query from a function.
  ///
  /// Requires the trait `SwiftOperationMacros`.
  @available(
    *,
    unavailable,
    message: "switch on the trait SwiftOperationMacros: .package(url: …, from: …, traits: [\"SwiftOperationMacros\"])"
  )
  @attached(peer, names: prefixed(`$`))
  public macro QueryRequest(path: OperationPathRule = .inferred) =
    #externalMacro(module: "ObservationMacros", type: "ObservationTrackedMacro")

  /// Creates a mutation from a function.
  ///
  /// Requires the trait `SwiftOperationMacros`.
  @available(
    *,
    unavailable,
    message: "switch on the trait SwiftOperationMacros: .package(url: …, from: …, traits: [\"SwiftOperationMacros\"])"
  )
  @attached(peer, names: prefixed(`$`))
  public macro MutationRequest(path: OperationPathRule = .inferred) =
    #externalMacro(module: "ObservationMacros", type: "ObservationTrackedMacro")

  /// Creates a stateless operation from a function.
  ///
  /// Requires the trait `SwiftOperationMacros`.
  @available(
    *,
    unavailable,
    message: "switch on the trait SwiftOperationMacros: .package(url: …, from: …, traits: [\"SwiftOperationMacros\"])"
  )
  @attached(peer, names: prefixed(`$`))
  public macro OperationRequest() = #externalMacro(module: "ObservationMacros", type: "ObservationTrackedMacro")

  /// Turns a property of `OperationContext` into a context entry.
  ///
  /// Requires the trait `SwiftOperationMacros`.
  @available(
    *,
    unavailable,
    message: "switch on the trait SwiftOperationMacros: .package(url: …, from: …, traits: [\"SwiftOperationMacros\"])"
  )
  @attached(peer, names: prefixed(`$ContextKey_`))
  public macro ContextEntry() = #externalMacro(module: "ObservationMacros", type: "ObservationTrackedMacro")

  /// Runs a stateless operation.
  ///
  /// Requires the trait `SwiftOperationMacros`.
  @available(
    *,
    unavailable,
    message: "switch on the trait SwiftOperationMacros: .package(url: …, from: …, traits: [\"SwiftOperationMacros\"])"
  )
  @discardableResult
  @freestanding(expression)
  public macro run<Operation: OperationRequest>(
    _ operation: Operation,
    context: OperationContext = OperationContext(),
    continuation: OperationContinuation<Operation.Value, Operation.Failure> = OperationContinuation { _, _ in }
  ) -> Operation.Value = #externalMacro(module: "ObservationMacros", type: "ObservationTrackedMacro")

  /// The path rule for an operation that a macro creates from a function.
  ///
  /// Requires the trait `SwiftOperationMacros`.
  public struct OperationPathRule: Sendable, ExpressibleByArrayLiteral {
    private init() {}

    /// A path that starts with the given elements, followed by the arguments.
    public init(arrayLiteral elements: (any Hashable & Sendable)...) {}

    /// A path made of the function, the value that it is a member of, and its arguments.
    public static var inferred: Self { Self() }

    /// Like ``inferred``, but requires every argument to be `Hashable`.
    public static var inferredFromHashable: Self { Self() }

    /// Like ``inferred``, but uses only identifiers.
    public static var inferredFromIdentifiable: Self { Self() }

    /// A path that starts with the given elements, followed by the arguments.
    public static func prefixed(by path: OperationPath) -> Self { Self() }

    /// A path that a closure makes from the arguments of the function.
    public static func custom<each Argument>(_ path: @Sendable (repeat each Argument) -> OperationPath) -> Self {
      Self()
    }
  }
#endif
