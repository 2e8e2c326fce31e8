#if SwiftOperationMacros
  public import OperationCore

  /// How an operation that a macro made of a function gets its path.
  ///
  /// A rule is read by the macro at compile time, so write it out where the macro stands.
  ///
  /// ```swift
  /// @QueryRequest(path: ["posts"])                            // ["posts", 1]
  /// func post(id: Int) async throws -> Post { … }
  ///
  /// @QueryRequest(path: .custom { (id: Int) in ["posts", id, "comments"] })
  /// func comments(postID id: Int) async throws -> [Comment] { … }
  /// ```
  public struct OperationPathRule: Sendable {
    private init() {}

    /// The function, the value that it is a member of, and its arguments, by what identifies each of them.
    ///
    /// A `Hashable` argument is an element of the path itself; of an `Identifiable` one that is not `Hashable` the `id` is.
    /// Functions never share a path, whatever their names and arguments.
    public static var inferred: Self { Self() }

    /// Like ``inferred``, where every argument has to be `Hashable`.
    public static var inferredFromHashable: Self { Self() }

    /// Like ``inferred``, by identifiers alone.
    ///
    /// An argument that is called `id` identifies the operation, as the property `id` identifies one that is `Identifiable`:
    /// it is the only argument in the path, and the others make no difference to it. Where there is none, the path has the
    /// `id` of every argument, and each of them has to be `Identifiable`.
    ///
    /// ```swift
    /// @QueryRequest(path: .inferredFromIdentifiable)
    /// func post(id: Int, server: Server) async throws -> Post { … }
    ///
    /// @QueryRequest(path: .inferredFromIdentifiable)
    /// func comments(on post: Post) async throws -> [Comment] { … }  // Identified by post.id.
    /// ```
    public static var inferredFromIdentifiable: Self { Self() }

    /// A path of your own, followed by the arguments as ``inferred`` takes them.
    ///
    /// An array literal stands for this rule: `path: ["posts"]`.
    public static func prefixed(by path: OperationPath) -> Self { Self() }

    /// A path of your own, made from the arguments of the function.
    ///
    /// - Parameter path: Takes the arguments in their order, without those that the run brings; for a member of a value it
    ///   may take that value before them. Write the types of a closure's parameters.
    public static func custom<each Argument>(_ path: @Sendable (repeat each Argument) -> OperationPath) -> Self {
      Self()
    }
  }

  extension OperationPathRule: ExpressibleByArrayLiteral {
    /// A path of your own, followed by the arguments as ``inferred`` takes them.
    public init(arrayLiteral elements: (any Hashable & Sendable)...) {
      self.init()
    }
  }
#endif
