public import OperationCore

/// What runs, what waits, and for what: see ``OperationCore/OperationClient/waitGraph(limit:)``.
///
/// ```swift
/// print(client.waitGraph())
/// // The stores: 2 runs
/// // GetFeed at ["feed"] runs: waits for GetUser at ["users", 1]
/// // GetUser at ["users", 1] runs: waits for a permit of api
/// ```
///
/// The description is for people, and its wording may change. The parts are for code.
public struct OperationWaitGraph: Hashable, Sendable {
  /// Something that runs or waits, or that is waited for.
  public struct Node: Hashable, Sendable, Identifiable {
    /// What a node stands for. Later versions may have more cases, so a `switch` needs a default.
    @nonexhaustive(warn)
    public enum Kind: String, Hashable, Sendable, Encodable {
      /// A run of a store, or an operation of a scheduler.
      case operation
      /// What operations wait for besides each other, such as a permit or a condition.
      case resource
    }

    /// Identifies the node in its graph.
    public let id: Int
    /// The name of the operation or of what is waited for, without user data.
    public let name: String
    /// What the node stands for.
    public let kind: Kind
    /// What it does, such as `runs`; empty for what is waited for.
    public let state: String
    /// The path of the operation, which may contain user data; nil where there is none.
    public let path: OperationPath?
  }

  /// A wait of one node for another.
  public struct Edge: Hashable, Sendable, Encodable {
    /// The node that waits.
    public let from: Int
    /// The node that is waited for.
    public let to: Int
    /// Why, such as `dependency`; empty where the nodes say it all.
    public let reason: String
  }

  /// The name of the scheduler, or of what else the graph shows.
  public let name: String

  /// What the graph shows in a few words: `3 operations, at most 2 at a time`.
  public let summary: String

  /// The nodes, in the order in which they were found.
  public let nodes: [Node]

  /// The waits, each of two of the nodes.
  public let edges: [Edge]

  /// The number of operations beyond the limit, which are left out.
  public let leftOut: Int
}

/// Something whose operations run and wait, such as a client or a scheduler.
public protocol OperationWaitGraphSource: Sendable {
  /// What its operations do, and what they wait for.
  ///
  /// - Parameter limit: The greatest number of nodes.
  /// - Returns: The graph, which contains no value of an operation.
  func waitGraph(limit: Int) -> OperationWaitGraph
}

extension OperationWaitGraphSource {
  /// What its operations do, and what they wait for, in 500 nodes at most.
  public func waitGraph() -> OperationWaitGraph { self.waitGraph(limit: 500) }
}

extension OperationWaitGraph: CustomStringConvertible {
  /// The graph in sentences, with a line for each operation.
  public var description: String {
    (["\(self.name): \(self.summary)"] + self.nodes.filter { $0.kind == .operation }.map { self.line(of: $0) })
      .joined(separator: "\n")
  }

  private func line(of node: Node) -> String {
    let waits = self.edges.filter { $0.from == node.id }.compactMap { edge -> String? in
      guard let target = self.nodes.first(where: { $0.id == edge.to }) else { return nil }
      return target.title + (edge.reason.isEmpty ? "" : " (\(edge.reason))")
    }
    let verb = node.state.hasPrefix("waits") ? "" : "waits for "
    let list = waits.isEmpty ? "" : ": \(verb)\(waits.joined(separator: ", "))"
    return "\(node.title) \(node.state)\(list)"
  }
}

extension OperationWaitGraph.Node {
  /// The name and the path.
  package var title: String { self.path.map { "\(self.name) at \(ShownText.of($0))" } ?? self.name }
}

extension OperationWaitGraph: Encodable {
  private enum CodingKeys: String, CodingKey {
    case name, summary, nodes, edges, leftOut
  }
}

extension OperationWaitGraph.Node: Encodable {
  private enum CodingKeys: String, CodingKey {
    case id, name, kind, state, path
  }

  /// Encodes the parts, the path as text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(self.id, forKey: .id)
    try container.encode(self.name, forKey: .name)
    try container.encode(self.kind, forKey: .kind)
    try container.encode(self.state, forKey: .state)
    try container.encodeIfPresent(self.path.map { ShownText.of($0) }, forKey: .path)
  }
}

extension OperationWaitGraph {
  /// Collects the nodes and the waits of a graph, each once, for a ``OperationWaitGraphSource``.
  ///
  /// ```swift
  /// func waitGraph(limit: Int) -> OperationWaitGraph {
  ///   var builder = OperationWaitGraph.Builder(limit: limit)
  ///   let slots = builder.addResource("a slot of \(self.name)")
  ///   for job in self.jobs {
  ///     let node = builder.addOperation(job, job.name, job.isWaiting ? "waits" : "runs")
  ///     if job.isWaiting { builder.addWait(of: node, for: slots) }
  ///   }
  ///   let leftOut = self.jobs.count { builder.operation($0) == nil }
  ///   return builder.graph(named: self.name, "\(self.jobs.count) jobs", leftOut: leftOut)
  /// }
  /// ```
  public struct Builder: Sendable {
    private let limit: Int
    private var nodes: [Node] = []
    private var edges: [Edge] = []
    private var known: Set<Edge> = []
    private var operations: [ObjectIdentifier: Int] = [:]
    private var resources: [String: Int] = [:]

    /// Creates a builder of a graph without nodes.
    ///
    /// - Parameter limit: The greatest number of nodes, at least 1.
    public init(limit: Int) {
      self.limit = max(1, limit)
    }

    /// Whether the graph has as many nodes as it may have.
    public var isFull: Bool { self.nodes.count >= self.limit }

    /// Finds the node of an operation.
    ///
    /// - Parameter object: Identifies the operation, as in ``addOperation(_:_:_:at:)``.
    /// - Returns: The number of the node; nil if the operation has none.
    public func operation(_ object: AnyObject) -> Int? { self.operations[ObjectIdentifier(object)] }

    /// Adds a node for an operation, unless the operation has one.
    ///
    /// - Parameters:
    ///   - object: Identifies the operation. It has to live as long as the builder.
    ///   - name: The name of the operation, without user data.
    ///   - state: What the operation does, such as `runs`.
    ///   - path: The path of the operation; nil for none.
    /// - Returns: The number of the node; nil if the graph is full.
    @discardableResult
    public mutating func addOperation(
      _ object: AnyObject,
      _ name: @autoclosure () -> String,
      _ state: @autoclosure () -> String,
      at path: OperationPath? = nil
    ) -> Int? {
      if let number = self.operation(object) { return number }
      guard !self.isFull else { return nil }
      let number = self.add(name(), .operation, state(), path)
      self.operations[ObjectIdentifier(object)] = number
      return number
    }

    /// Adds a node for something that operations wait for, such as a permit, unless the graph has one of this name.
    ///
    /// - Parameter name: The name, without user data.
    /// - Returns: The number of the node; nil if the graph is full.
    public mutating func addResource(_ name: String) -> Int? {
      if let number = self.resources[name] { return number }
      guard !self.isFull else { return nil }
      let number = self.add(name, .resource, "", nil)
      self.resources[name] = number
      return number
    }

    private mutating func add(_ name: String, _ kind: Node.Kind, _ state: String, _ path: OperationPath?) -> Int {
      let node = Node(id: self.nodes.count + 1, name: name, kind: kind, state: state, path: path)
      self.nodes.append(node)
      return node.id
    }

    /// Adds a wait of one node for another, unless the graph has it.
    ///
    /// - Parameters:
    ///   - from: The number of the node that waits. Nothing is added if it is nil: the node was left out.
    ///   - to: The number of the node that is waited for. Nothing is added if it is nil.
    ///   - reason: Why, such as `dependency`; empty where the nodes say it all.
    public mutating func addWait(of from: Int?, for to: Int?, because reason: String = "") {
      guard let from, let to, from != to else { return }
      let edge = Edge(from: from, to: to, reason: reason)
      if self.known.insert(edge).inserted { self.edges.append(edge) }
    }

    /// Makes the graph.
    ///
    /// - Parameters:
    ///   - name: The name of the source, without user data.
    ///   - summary: The graph in a few words: `3 operations, at most 2 at a time`.
    ///   - leftOut: The number of operations that have no node.
    /// - Returns: The graph of what was added so far.
    public func graph(named name: String, _ summary: String, leftOut: Int) -> OperationWaitGraph {
      OperationWaitGraph(name: name, summary: summary, nodes: self.nodes, edges: self.edges, leftOut: leftOut)
    }
  }
}
