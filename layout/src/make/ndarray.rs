//! Layouts of views of `ndarray`.

use crate::{Layout, LayoutError};
use ndarray::{ArrayView, Dimension};

impl<T> Layout<T> {
    /// The elements of a view in its logical order, counted from the one that lies lowest in memory.
    ///
    /// ```
    /// use chare_layout::Layout;
    /// use ndarray::{Array2, s};
    /// # fn main() -> Result<(), chare_layout::LayoutError> {
    /// let array = Array2::<f64>::zeros((4, 5));
    /// let layout = Layout::of_view(&array.slice(s![1..-1, 0]))?;
    /// assert_eq!(layout.runs().collect::<Vec<_>>(), [(0, 8), (40, 8)]);
    /// let backwards = Layout::of_view(&array.slice(s![0, ..;-2]))?;
    /// assert_eq!(backwards.runs().collect::<Vec<_>>(), [(32, 8), (16, 8), (0, 8)]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`LayoutError::NotWhole`] for elements without bytes.
    pub fn of_view<D: Dimension>(view: &ArrayView<'_, T, D>) -> Result<Self, LayoutError> {
        let layout = Self::strided(view.shape(), view.strides())?;
        let before = layout.origin().min(0) / size_of::<T>() as i64;
        layout.shifted(-before)
    }
}
