#if SwiftOperationMacros
  /// Names for the values that a run passes, different from the names of the function and its own parameters.
  struct BodyNames {
    let isolation: String
    let arguments: String
    let page: String
    let paging: String
    let context: String
    let continuation: String
  }

  extension OperationFunction {
    var bodyNames: BodyNames { self.names(differentFrom: []) }

    /// Names that are different from others, too.
    func names(differentFrom others: Set<String>) -> BodyNames {
      let taken = others.union(self.ownParameters.map(\.name) + [self.name])
      func free(_ name: String) -> String {
        var name = name
        while taken.contains(name) { name = "run\(name.first?.uppercased() ?? "")\(name.dropFirst())" }
        return name
      }
      return BodyNames(
        isolation: free("isolation"),
        arguments: free("arguments"),
        page: free("page"),
        paging: free("paging"),
        context: free("context"),
        continuation: free("continuation")
      )
    }
  }
#endif
