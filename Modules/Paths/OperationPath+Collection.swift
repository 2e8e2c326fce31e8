extension OperationPath: RandomAccessCollection, MutableCollection, RangeReplaceableCollection {
  /// The position of the first element, or `endIndex` if the path is empty.
  public var startIndex: Int { 0 }

  /// The position past the last element.
  public var endIndex: Int { elements.count }

  /// The element at a position.
  ///
  /// - Precondition: The position is valid for the path, and not `endIndex`.
  public subscript(position: Int) -> Element {
    get { elements[position] }
    set { elements[position] = newValue }
  }

  /// The elements in a range of positions. `OperationPath(slice)` creates a path from them.
  ///
  /// - Precondition: The range is within the path's positions.
  public subscript(bounds: Range<Int>) -> ArraySlice<Element> {
    get { elements[bounds] }
    set { elements[bounds] = newValue }
  }

  /// Replaces the elements in a range of positions.
  ///
  /// - Parameters:
  ///   - subrange: The positions to replace, which may be empty.
  ///   - newElements: The replacement.
  /// - Complexity: O(*n* + *m*) in the elements of the path and the new ones; amortized O(*m*) at the end of the path.
  public mutating func replaceSubrange(_ subrange: Range<Int>, with newElements: some Collection<Element>) {
    elements.replaceSubrange(subrange, with: newElements)
  }

  /// Reserves storage for a number of elements.
  ///
  /// - Parameter minimumCapacity: The number of elements the path will have.
  /// - Complexity: O(*n*) in the elements of the path.
  public mutating func reserveCapacity(_ minimumCapacity: Int) {
    elements.reserveCapacity(minimumCapacity)
  }
}
