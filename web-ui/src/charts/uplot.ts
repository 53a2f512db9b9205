/** uPlot with its styles, in a chunk of its own that is loaded with the first chart. */
import 'uplot/dist/uPlot.min.css';

export { default as uPlot } from 'uplot';
