#if SwiftOperationMacros
  internal import SwiftSyntax

  /// What the arguments of `@PaginatedRequest` say about pages.
  struct PageRules {
    /// Where the identifier of the first page comes from.
    enum Initial {
      case value(ExprSyntax)
      /// A closure, and the expressions for its parameters.
      case closure(ClosureExprSyntax, [String])
    }

    /// Where the identifier of the page next to a page comes from.
    enum Neighbour {
      /// There is no such page.
      case none
      case property(KeyPathExprSyntax)
      /// A closure, the expressions for its parameters, and the names for what a run passes.
      case closure(ClosureExprSyntax, [String], BodyNames)
      /// The name of a function.
      case function(ExprSyntax)
    }

    var initial: Initial
    /// The first page if it is the default value of the parameter that receives the page.
    var initialDefault: ExprSyntax?
    var next: Neighbour
    var previous: Neighbour

    init(_ attribute: AttributeSyntax, of function: OperationFunction) throws(Misuse) {
      let byDefault = function.parameters.first { $0.role == .page }?.syntax.defaultValue?.value
      let initial = attribute.argument("initialPageId") ?? byDefault
      let next = attribute.argument("next")
      guard let initial, let next else {
        let missing = [initial == nil ? "initialPageId" : nil, next == nil ? "next" : nil].compactMap { $0 }
        throw .missingPages(missing, attribute)
      }
      if let closure = initial.as(ClosureExprSyntax.self) {
        self.initial = .closure(closure, try function.arguments(forInitial: closure))
      } else {
        self.initial = .value(initial.trimmed)
        if attribute.argument("initialPageId") == nil { self.initialDefault = initial.trimmed }
      }
      self.next = try Neighbour(next, label: "next", of: function)
      self.previous =
        try attribute.argument("previous").map { (previous) throws(Misuse) in
          try Neighbour(previous, label: "previous", of: function)
        } ?? .none
    }
  }

  extension PageRules.Neighbour {
    init(_ expression: ExprSyntax, label: String, of function: OperationFunction) throws(Misuse) {
      if expression.is(NilLiteralExprSyntax.self) {
        self = .none
      } else if let keyPath = expression.as(KeyPathExprSyntax.self) {
        self = .property(keyPath.trimmed)
      } else if let closure = expression.as(ClosureExprSyntax.self) {
        let names = function.names(differentFrom: closure.identifiers)
        self = .closure(closure.trimmed, try function.arguments(forNeighbour: closure, names: names), names)
      } else if expression.isLiteral {
        throw .neighbourIsNoFunction(expression, label: label)
      } else {
        self = .function(expression.trimmed)
      }
    }
  }

  extension OperationFunction {
    /// The arguments in the code that creates the request.
    ///
    /// - Parameters:
    ///   - pages: The rules.
    ///   - page: The first page if it is a parameter of that code; nil otherwise.
    /// - Returns: The arguments.
    func arguments(for pages: PageRules, from page: String?) -> [String] {
      let initial =
        switch pages.initial {
        case .value(let value): page ?? value.description
        case .closure(let closure, let arguments): "(\(closure.trimmed))(\(arguments.joined(separator: ", ")))"
        }
      return ["initialPageId: \(initial)", "next: \(self.rendered(pages.next))"]
        + (pages.previous.isNone ? [] : ["previous: \(self.rendered(pages.previous))"])
    }

    private func rendered(_ neighbour: PageRules.Neighbour) -> String {
      switch neighbour {
      case .none: return ".none"
      case .property(let keyPath): return ".property(\(keyPath))"
      case .closure(let closure, let arguments, let names):
        let call = "(\(closure))(\(arguments.joined(separator: ", ")))"
        return ".init { \(names.page), \(names.paging), \(names.context) in \(call) }"
      case .function(let function):
        return self.place == .instance ? ".init(\(function), of: self)" : ".init(\(function))"
      }
    }
  }

  extension PageRules.Neighbour {
    fileprivate var isNone: Bool { if case .none = self { true } else { false } }
  }

  extension ExprSyntax {
    fileprivate var isLiteral: Bool {
      switch self.kind {
      case .integerLiteralExpr, .floatLiteralExpr, .booleanLiteralExpr, .stringLiteralExpr, .arrayExpr, .dictionaryExpr:
        true
      default: false
      }
    }
  }
#endif
