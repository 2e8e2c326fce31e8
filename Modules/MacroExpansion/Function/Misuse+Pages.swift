#if SwiftOperationMacros
  internal import SwiftDiagnostics
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder

  extension Misuse {
    static func noPage(_ function: FunctionDeclSyntax) -> Misuse {
      let clause = function.signature.parameterClause
      return Misuse(
        "noPage",
        at: function.name,
        """
        a paginated request has a parameter 'page', which receives the identifier of the page to load, \
        or a parameter of the type 'Paging'
        """,
        fixIts: [.replacing("add a parameter 'page'", clause, with: clause.adding("page: <#PageID#>"))]
      )
    }

    static func paging(_ parameter: FunctionParameterSyntax, of arguments: [String]) -> Misuse {
      let type = TypeSyntax("Paging<\(raw: arguments.joined(separator: ", "))>")
      return Misuse(
        "paging",
        at: parameter.type,
        "the paging has the identifier of the page and what the function returns, so its type is '\(type)'",
        fixIts: [
          .replacing("replace the type with '\(type)'", parameter.type, with: type.surrounded(as: parameter.type))
        ]
      )
    }

    static func missingPages(_ labels: [String], _ attribute: AttributeSyntax) -> Misuse {
      var extended = attribute
      for label in labels {
        let value: ExprSyntax = label == "next" ? "\\.<#nextPageId#>" : "<#page id#>"
        extended = extended.setting(label, to: value)
      }
      let message =
        switch labels {
        case ["initialPageId"]:
          """
          the request needs the identifier of the page that is loaded first: write 'initialPageId:', or a default value \
          of the parameter 'page'
          """
        case ["next"]:
          """
          the request needs to know which page comes after a page: write 'next:' with a key path of the page's value, \
          a closure, the name of a function, or 'nil' if no page does
          """
        default:
          """
          the request needs 'initialPageId:', the identifier of the page that is loaded first, and 'next:', where the \
          identifier of the page after a page comes from
          """
        }
      return Misuse(
        "missingPages",
        at: attribute,
        message,
        fixIts: [
          .replacing("add \(labels.map { "'\($0):'" }.joined(separator: " and "))", attribute, with: extended)
        ]
      )
    }

    static func neighbourIsNoFunction(_ expression: ExprSyntax, label: String) -> Misuse {
      Misuse(
        "neighbourIsNoFunction",
        at: expression,
        """
        '\(label):' says how to find the identifier of another page: write a key path of the page's value, a closure, \
        the name of a function, or 'nil' if there is no such page
        """,
        fixIts: [
          .replacing(
            "replace it with a key path",
            expression,
            with: ExprSyntax("\\.<#pageId#>").surrounded(as: expression)
          )
        ]
      )
    }

    static func initialParameter(
      _ parameter: ClosureParameter,
      _ closure: ClosureExprSyntax,
      of parameters: [OperationParameter]
    ) -> Misuse {
      let names = parameters.map { "'\($0.name)'" }.joined(separator: ", ")
      return Misuse(
        "initialParameter",
        at: parameter.syntax,
        """
        the parameters of the closure have the names of arguments of the request\
        \(parameters.isEmpty ? ", which has none" : ": \(names)")
        """,
        fixIts: [
          .replacing(
            "take the arguments",
            closure,
            with: closure.taking(ClosureSignatureSyntax(of: parameters))
          )
        ]
      )
    }

    static func neighbourParameter(
      _ parameter: ClosureParameter,
      _ closure: ClosureExprSyntax,
      of function: OperationFunction
    ) -> Misuse {
      let page = "Page<\(function.pageIdType ?? "Never"), \(function.valueType)>"
      let names = function.ownParameters.map { "'\($0.name)'" }.joined(separator: ", ")
      return Misuse(
        "neighbourParameter",
        at: parameter.syntax,
        """
        the parameters of the closure have the types 'Page', 'Paging' and 'OperationContext'\
        \(names.isEmpty ? "" : ", or the names of arguments of the request: \(names)")
        """,
        fixIts: [
          .replacing(
            "take the page",
            closure,
            with: closure.taking(ClosureSignatureSyntax([("page", page)]))
          )
        ]
      )
    }
  }

  extension FunctionParameterClauseSyntax {
    /// The clause with one parameter more, on a line of its own if the last one is.
    fileprivate func adding(_ parameter: FunctionParameterSyntax) -> Self {
      var parameters = self.parameters
      guard let index = parameters.indices.last else { return self.with(\.parameters, [parameter]) }
      let last = parameters[index]
      parameters[index] =
        last
        .with(\.trailingTrivia, [])
        .with(\.trailingComma, .commaToken(trailingTrivia: last.beginsLine ? last.trailingTrivia : .space))
      parameters.append(parameter.with(\.leadingTrivia, last.leadingTrivia.lineBreak))
      return self.with(\.parameters, parameters)
    }
  }
#endif
