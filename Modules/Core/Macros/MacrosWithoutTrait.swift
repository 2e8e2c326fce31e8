#if !SwiftOperationMacros
  // Without these declarations the compiler reports unknown macros, and does not name the trait that is missing. The
  // plugin of this package is built with the trait only, so they name an implementation that every toolchain has. It makes
  // nothing of a function, so that it adds no error of its own.

  /// Makes a query of a function. It needs the trait `SwiftOperationMacros`.
  @available(
    *,
    unavailable,
    message: "switch on the trait SwiftOperationMacros: .package(url: …, from: …, traits: [\"SwiftOperationMacros\"])"
  )
  @attached(peer, names: prefixed(`$`))
  public macro QueryRequest(path: OperationPathRule = .inferred) =
    #externalMacro(module: "ObservationMacros", type: "ObservationTrackedMacro")

  /// Makes a mutation of a function. It needs the trait `SwiftOperationMacros`.
  @available(
    *,
    unavailable,
    message: "switch on the trait SwiftOperationMacros: .package(url: …, from: …, traits: [\"SwiftOperationMacros\"])"
  )
  @attached(peer, names: prefixed(`$`))
  public macro MutationRequest(path: OperationPathRule = .inferred) =
    #externalMacro(module: "ObservationMacros", type: "ObservationTrackedMacro")

  /// Makes an operation without state of a function. It needs the trait `SwiftOperationMacros`.
  @available(
    *,
    unavailable,
    message: "switch on the trait SwiftOperationMacros: .package(url: …, from: …, traits: [\"SwiftOperationMacros\"])"
  )
  @attached(peer, names: prefixed(`$`))
  public macro OperationRequest() = #externalMacro(module: "ObservationMacros", type: "ObservationTrackedMacro")

  /// Makes a property of `OperationContext` an entry of the context. It needs the trait `SwiftOperationMacros`.
  @available(
    *,
    unavailable,
    message: "switch on the trait SwiftOperationMacros: .package(url: …, from: …, traits: [\"SwiftOperationMacros\"])"
  )
  @attached(peer, names: prefixed(`$ContextKey_`))
  public macro ContextEntry() = #externalMacro(module: "ObservationMacros", type: "ObservationTrackedMacro")

  /// Runs an operation without state. It needs the trait `SwiftOperationMacros`.
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

  /// How an operation that a macro made of a function gets its path. The macros need the trait `SwiftOperationMacros`.
  public struct OperationPathRule: Sendable, ExpressibleByArrayLiteral {
    private init() {}

    /// A path of your own, followed by the arguments.
    public init(arrayLiteral elements: (any Hashable & Sendable)...) {}

    /// The function, the value that it is a member of, and its arguments.
    public static var inferred: Self { Self() }

    /// Like ``inferred``, where every argument has to be `Hashable`.
    public static var inferredFromHashable: Self { Self() }

    /// Like ``inferred``, by identifiers alone.
    public static var inferredFromIdentifiable: Self { Self() }

    /// A path of your own, followed by the arguments.
    public static func prefixed(by path: OperationPath) -> Self { Self() }

    /// A path of your own, made from the arguments of the function.
    public static func custom<each Argument>(_ path: @Sendable (repeat each Argument) -> OperationPath) -> Self {
      Self()
    }
  }
#endif
